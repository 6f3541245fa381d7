/** Writes a file of YAML in one layout. What it says, its order and its comments stay. */
import { parseDocument, visit } from 'yaml';

/** Returns the text as it is if it cannot be read, or if anything but its layout would change. */
export function formatYaml(text: string): string {
  const document = parseDocument(text, { schema: 'failsafe', uniqueKeys: false });
  if (document.errors.length || document.contents === null) return text;
  const before = meaningOf(document);
  const formatted = document.toString({ lineWidth: 0, flowCollectionPadding: true, indentSeq: true });
  const again = parseDocument(formatted, { schema: 'failsafe', uniqueKeys: false });
  const isSame = !again.errors.length && meaningOf(again) === before;
  return isSame && commentsIn(formatted) === commentsIn(text) ? formatted : text;
}

function meaningOf(document: ReturnType<typeof parseDocument>): string {
  const parts: unknown[] = [];
  visit(document, {
    Scalar: (_, { value, anchor, tag }) => void parts.push([value, anchor, tag]),
    Alias: (_, { source }) => void parts.push(['*', source]),
    Map: (_, { anchor, items }) => void parts.push(['{', anchor, items.length]),
    Seq: (_, { anchor, items }) => void parts.push(['[', anchor, items.length]),
  });
  return JSON.stringify(parts);
}

/** As many `#` as before: a layout that lost a comment is not used. */
const commentsIn = (text: string) => text.split('#').length;
