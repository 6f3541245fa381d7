/** Patterns of LIKE and ILIKE. */

/** Whether all of its wildcards are `%`. */
export const isPlain = (pattern: string, mark: string) => !pattern.includes('_') && !pattern.includes(mark);

/** The same pattern as a regular expression: `a_%` is `a..*`. */
export function expressionOf(pattern: string, mark: string): string {
  let expression = '';
  let isEscaped = false;
  for (const character of pattern) {
    if (!isEscaped && character === mark) isEscaped = true;
    else {
      expression += (isEscaped ? undefined : WILDCARDS[character]) ?? literally(character);
      isEscaped = false;
    }
  }
  return expression;
}

const WILDCARDS: Readonly<Record<string, string>> = { '%': '.*', _: '.' };

const literally = (character: string) => (/[!-/:-@[-`{-~]/.test(character) ? `\\${character}` : character);
