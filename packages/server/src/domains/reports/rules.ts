import { containing } from '../../platform/db/sql.ts';

export const UNTITLED = 'Untitled report';

/** Stands between name, title and description, so that no search matches across two of them. */
const SEPARATOR = '\u0001';

const foldCase = (text: string) => text.replaceAll(SEPARATOR, ' ').toLowerCase();

/** The text that a search looks through. */
export const searchText = (report: { name: string; title: string | null; description: string | null }) =>
  [report.name, report.title ?? '', report.description ?? ''].map(foldCase).join(SEPARATOR);

/** A pattern for `like` that finds exactly this text, in upper or lower case. */
export const searchPattern = (search: string) => containing(foldCase(search));

/** Whether the search has a word of three letters or more, which the trigram index can find. */
export const hasTrigrams = (search: string) => /[\p{L}\p{N}]{3}/u.test(search);

interface Place {
  folderId: number | null;
  workbookId: number | null;
}

/** The place of a report after an update. A field that is not given stays, and null clears it. A workbook wins. */
export function newPlace(
  before: Place,
  given: { folderId?: number | null; workbookId?: number | null },
): Place {
  if (given.workbookId != null) return { workbookId: given.workbookId, folderId: null };
  if (given.folderId != null) return { workbookId: null, folderId: given.folderId };
  return {
    workbookId: given.workbookId === null ? null : before.workbookId,
    folderId: given.folderId === null ? null : before.folderId,
  };
}
