import { invalid } from '../../platform/errors.ts';

/** A body says what it is (RFC 7643, 3). It may name other schemas too, whose attributes are ignored. */
export function requireSchema({ schemas }: { schemas: readonly string[] }, urn: string): void {
  if (!schemas.some((each) => each.toLowerCase() === urn.toLowerCase())) {
    throw invalid('schemas', `must name \`${urn}\``);
  }
}
