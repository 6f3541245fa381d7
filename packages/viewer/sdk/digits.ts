/** JSON whose numbers keep their digits. */

/** A number holds 15 digits, whatever they are. Browsers that do not show the text of a number round it, as they always did. */
const holds = (source = '') => source.replace(/\D/g, '').length <= 15;

/** Numbers with more digits become texts: an id would become another id. */
export const parseDigits = (text: string) =>
  JSON.parse(text, (_key, value, context?: { source?: string }) =>
    typeof value === 'number' && !holds(context?.source) ? context!.source : value,
  );
