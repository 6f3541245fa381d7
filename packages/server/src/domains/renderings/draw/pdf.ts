/** A PDF whose pages are pictures. */
import { deflateSync } from 'node:zlib';

export interface PdfPage {
  /** Red, green, blue and opacity of each pixel. */
  pixels: Buffer;
  width: number;
  height: number;
}

export interface Sheet {
  /** In points. */
  width: number;
  height: number;
  margin: number;
  title: string;
  /** The colour of the margins, as `#rrggbb`. */
  background: string;
}

/** Texts of any script are written as UTF-16 with its mark. */
const pdfString = (text: string) => {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
  return `<${bytes.toString('hex')}>`;
};

const colorOf = (hex: string) =>
  [1, 3, 5].map((at) => (Number.parseInt(hex.slice(at, at + 2), 16) / 255).toFixed(3)).join(' ');

function withoutOpacity(pixels: Buffer): Buffer {
  const plain = Buffer.allocUnsafe((pixels.length / 4) * 3);
  for (let from = 0, to = 0; from < pixels.length; from += 4, to += 3) {
    plain[to] = pixels[from]!;
    plain[to + 1] = pixels[from + 1]!;
    plain[to + 2] = pixels[from + 2]!;
  }
  return plain;
}

/** Takes one page after the other, so that only one is in memory with all its pixels. */
export async function writePdf(
  count: number,
  pages: AsyncIterable<PdfPage> | Iterable<PdfPage>,
  sheet: Sheet,
): Promise<Buffer> {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n', 'latin1')];
  const offsets: number[] = [];
  let length = parts[0]!.length;
  const write = (data: Buffer) => {
    parts.push(data);
    length += data.length;
  };
  const object = (id: number, dictionary: string, stream?: Buffer) => {
    offsets[id] = length;
    const body = stream ? `${dictionary.replace(/>>$/, `/Length ${stream.length}>>`)}\nstream\n` : dictionary;
    write(Buffer.from(`${id} 0 obj\n${body}`, 'latin1'));
    if (stream) write(stream);
    write(Buffer.from(`${stream ? '\nendstream' : ''}\nendobj\n`, 'latin1'));
  };
  const { width, height, margin } = sheet;
  const firstPage = 4;
  const ids = Array.from({ length: count }, (_, i) => firstPage + i * 3);
  object(1, `<</Type/Catalog/Pages 2 0 R/ViewerPreferences<</DisplayDocTitle true>>>>`);
  object(2, `<</Type/Pages/Count ${count}/Kids[${ids.map((id) => `${id} 0 R`).join(' ')}]>>`);
  object(3, `<</Title ${pdfString(sheet.title)}/Producer(Oriel)>>`);
  let next = 0;
  for await (const page of pages) {
    const id = ids[next++]!;
    object(
      id,
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} ${height}]/Resources<</XObject<</P ${id + 1} 0 R>>>>/Contents ${id + 2} 0 R>>`,
    );
    object(
      id + 1,
      `<</Type/XObject/Subtype/Image/Width ${page.width}/Height ${page.height}/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/FlateDecode>>`,
      deflateSync(withoutOpacity(page.pixels)),
    );
    const background = `${colorOf(sheet.background)} rg 0 0 ${width} ${height} re f`;
    const picture = `q ${width - 2 * margin} 0 0 ${height - 2 * margin} ${margin} ${margin} cm /P Do Q`;
    object(id + 2, '<<>>', Buffer.from(`${background}\n${picture}`, 'latin1'));
  }
  const start = length;
  const entries = Array.from(
    { length: offsets.length - 1 },
    (_, i) => `${String(offsets[i + 1]).padStart(10, '0')} 00000 n \n`,
  );
  write(
    Buffer.from(
      `xref\n0 ${offsets.length}\n0000000000 65535 f \n${entries.join('')}trailer\n<</Size ${offsets.length}/Root 1 0 R/Info 3 0 R>>\nstartxref\n${start}\n%%EOF\n`,
      'latin1',
    ),
  );
  return Buffer.concat(parts);
}
