/** A member as the query names it, and where in the query. */
export interface NamedMember {
  readonly name: string;
  readonly path: string;
}
