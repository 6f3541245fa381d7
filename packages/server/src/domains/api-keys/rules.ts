/** Whether a key that expires at `asked` expires later than a key that expires at `own`. Null means never. */
export const outlives = (asked: string | null, own: string | null) =>
  own !== null && (asked === null || Date.parse(asked) > Date.parse(own));

/** Whether the scope `asked` contains deployments outside of the scope `own`. Null means all deployments. */
export const reachesFurther = (asked: readonly number[] | null, own: readonly number[] | null) =>
  own !== null && (asked === null || asked.some((id) => !own.includes(id)));
