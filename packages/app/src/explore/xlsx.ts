/**
 * Rows as a workbook for spreadsheets: a ZIP file with one sheet. Texts are cells of texts, which no program takes for
 * formulas. It is written part by part, and compressed by the browser, so that the rows are not in memory a second time.
 */
import type { Row, TableColumn } from '@oriel/charts';

const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const ROWS_AT_ONCE = 500;
/** Spreadsheets cut off longer texts. */
const TEXT_MAX = 32_767;
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
/** Styles of cells, by their place in `styles.xml`. */
const STYLE = { heading: 1, day: 2, time: 3, percent: 4 };

/** XML knows no control characters, and spreadsheets read `_x0041_` as a letter. */
const cellText = (value: unknown) =>
  String(value)
    .slice(0, TEXT_MAX)
    .replaceAll(/(?![\t\n\r])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu, '')
    .replaceAll(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');

const textCell = (value: unknown, style = 0) =>
  `<c${style ? ` s="${style}"` : ''} t="inlineStr"><is><t xml:space="preserve">${cellText(value)}</t></is></c>`;

const DAY_MS = 86_400_000;
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d(?:\.\d+)?)Z?$/;
/** Their day 0, counted as if 1900 was a leap year. Earlier times stay texts. */
const FIRST_DAY = Date.UTC(1899, 11, 30);
const FIRST_RIGHT = Date.UTC(1900, 2, 1);

function cell(value: unknown, isPercent: boolean, isNumber: boolean): string {
  if (value === null || value === undefined || value === '') return '<c/>';
  if (typeof value === 'boolean') return `<c t="b"><v>${value ? 1 : 0}</v></c>`;
  const text = String(value);
  // Spreadsheets hold 15 digits: longer numbers stay what they are as texts.
  const digits = text.replace(/^[-+0.]+|e.*$/gi, '').replace('.', '').length;
  if (isNumber && digits <= 15 && Number.isFinite(Number(text)))
    return `<c${isPercent ? ` s="${STYLE.percent}"` : ''}><v>${Number(text)}</v></c>`;
  const time = TIME.exec(text);
  const ms = time ? Date.parse(`${time[1]}T${time[2]}Z`) : Number.NaN;
  if (ms >= FIRST_RIGHT) {
    const style = time![2]!.startsWith('00:00:00') ? STYLE.day : STYLE.time;
    return `<c s="${style}"><v>${(ms - FIRST_DAY) / DAY_MS}</v></c>`;
  }
  return textCell(text);
}

function* sheet(rows: readonly Row[], columns: readonly TableColumn[]): Generator<string> {
  const widths = columns.map((_, i) => `<col min="${i + 1}" max="${i + 1}" width="18" customWidth="1"/>`);
  const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  yield `${HEAD}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews><cols>${widths.join('')}</cols><sheetData>`;
  yield `<row>${columns.map(({ title }) => textCell(title, STYLE.heading)).join('')}</row>`;
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
    yield rows
      .slice(from, from + ROWS_AT_ONCE)
      .map((row) => {
        const cells = columns.map(({ member, isNumber, shown, format }) => {
          const kind = format?.type ?? shown?.format;
          return cell(row[member], kind === 'percent', isNumber);
        });
        return `<row>${cells.join('')}</row>`;
      })
      .join('');
  yield '</sheetData></worksheet>';
}

const styles = () => {
  const numbers =
    '<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>';
  const fonts = '<fonts count="2"><font/><font><b/></font></fonts>';
  const others =
    '<fills count="2"><fill/><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>';
  const formats = [
    '<xf/>',
    '<xf fontId="1" applyFont="1"/>',
    '<xf numFmtId="164" applyNumberFormat="1"/>',
    '<xf numFmtId="165" applyNumberFormat="1"/>',
    '<xf numFmtId="10" applyNumberFormat="1"/>',
  ];
  return `${HEAD}<styleSheet xmlns="${MAIN}">${numbers}${fonts}${others}<cellXfs count="${formats.length}">${formats.join('')}</cellXfs></styleSheet>`;
};

const part = (name: string, type: string) =>
  `<Override PartName="${name}" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml"/>`;
const relation = (id: string, type: string, target: string) =>
  `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`;
const relations = (list: string) =>
  `${HEAD}<Relationships xmlns="${PACKAGE}/relationships">${list}</Relationships>`;

const FIXED: Record<string, string> = {
  '[Content_Types].xml': `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${part('/xl/workbook.xml', 'sheet.main')}${part('/xl/worksheets/sheet1.xml', 'worksheet')}${part('/xl/styles.xml', 'styles')}</Types>`,
  '_rels/.rels': relations(relation('rId1', 'officeDocument', 'xl/workbook.xml')),
  'xl/workbook.xml': `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="Data" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': relations(
    relation('rId1', 'worksheet', 'worksheets/sheet1.xml') + relation('rId2', 'styles', 'styles.xml'),
  ),
};

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let made = byte;
  for (let bit = 0; bit < 8; bit++) made = made & 1 ? (made >>> 1) ^ 0xedb88320 : made >>> 1;
  return made;
});

interface ZipEntry {
  name: string;
  crc: number;
  size: number;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Compresses a file of the ZIP. */
async function compressEntry(name: string, texts: Iterable<string>): Promise<ZipEntry> {
  const encoder = new TextEncoder();
  let crc = 0xffffffff;
  let size = 0;
  const next = texts[Symbol.iterator]();
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const { done, value } = next.next();
      if (done) return controller.close();
      const bytes = encoder.encode(value);
      for (const byte of bytes) crc = CRC[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
      size += bytes.length;
      controller.enqueue(bytes);
    },
  });
  const compressed = source.pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(compressed).arrayBuffer());
  return { name, crc: (crc ^ 0xffffffff) >>> 0, size, bytes };
}

/** 1980-01-01, the first day that a ZIP file knows: so equal rows make equal files. */
const DATE = 0x21;
const UTF8 = 0x800;
const DEFLATED = 8;

function fields(...values: [bytes: 2 | 4, value: number][]): Uint8Array<ArrayBuffer> {
  const made = new DataView(new ArrayBuffer(values.reduce((sum, [bytes]) => sum + bytes, 0)));
  let at = 0;
  for (const [bytes, value] of values) {
    if (bytes === 2) made.setUint16(at, value, true);
    else made.setUint32(at, value, true);
    at += bytes;
  }
  return new Uint8Array(made.buffer);
}

function zipOf(files: readonly ZipEntry[]): Blob {
  const body: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  const lengthOf = (parts: Uint8Array[]) => parts.reduce((sum, bytes) => sum + bytes.length, 0);
  for (const { name, crc, size, bytes } of files) {
    const title = new TextEncoder().encode(name);
    const offset = lengthOf(body);
    const common: [2 | 4, number][] = [
      [2, 20],
      [2, UTF8],
      [2, DEFLATED],
      [2, 0],
      [2, DATE],
      [4, crc],
      [4, bytes.length],
      [4, size],
      [2, title.length],
      [2, 0],
    ];
    body.push(fields([4, 0x04034b50], ...common), title, bytes);
    directory.push(
      fields([4, 0x02014b50], [2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]),
      title,
    );
  }
  const [start, length] = [lengthOf(body), lengthOf(directory)];
  const count: [2, number] = [2, files.length];
  const end = fields([4, 0x06054b50], [2, 0], [2, 0], count, count, [4, length], [4, start], [2, 0]);
  return new Blob([...body, ...directory, end], { type: TYPE });
}

export async function xlsxOf(rows: readonly Row[], columns: readonly TableColumn[]): Promise<Blob> {
  const files: ZipEntry[] = [];
  for (const [name, text] of Object.entries({ ...FIXED, 'xl/styles.xml': styles() }))
    files.push(await compressEntry(name, [text]));
  files.push(await compressEntry('xl/worksheets/sheet1.xml', sheet(rows, columns)));
  return zipOf(files);
}
