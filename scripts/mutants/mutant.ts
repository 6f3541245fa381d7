export interface Mutant {
  /** The guarantee that the change breaks. */
  name: string;
  file: string;
  /** A text that is in the file exactly once. */
  from: string;
  to: string;
  /** Test files. At least one test in them must fail. */
  tests: string[];
}

export const SERVER = 'packages/server/src/';
export const TEST = 'packages/server/test/';
