export const UNTITLED = 'Untitled report';

/** Between name, title and description, so that nothing is found across them. */
const SEPARATOR = '\u0001';

const foldCase = (text: string) => text.replaceAll(SEPARATOR, ' ').toLowerCase();

/** What a search looks through. */
export const searchText = (report: { name: string; title: string | null; description: string | null }) =>
  [report.name, report.title ?? '', report.description ?? ''].map(foldCase).join(SEPARATOR);

/** A pattern for `like` that finds the text as it stands, in any case. */
export const searchPattern = (search: string) => `%${foldCase(search).replaceAll(/[\\%_]/g, '\\$&')}%`;

/** Words of three letters or more can be found by their trigrams. */
export const hasTrigrams = (search: string) => /[\p{L}\p{N}]{3}/u.test(search);

interface Place {
  folderId: number | null;
  workbookId: number | null;
}

/** Where a report is to be after an update: what is not given stays, null takes it out. A workbook wins over a folder. */
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
