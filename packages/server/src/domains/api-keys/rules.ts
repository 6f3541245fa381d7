/** Whether a key that ends at `asked` would outlive one that ends at `own`. Null never ends. */
export const outlives = (asked: string | null, own: string | null) =>
  own !== null && (asked === null || Date.parse(asked) > Date.parse(own));

/** Whether a key with the scope `asked` would reach further than one with the scope `own`. Null reaches everything. */
export const reachesFurther = (asked: readonly number[] | null, own: readonly number[] | null) =>
  own !== null && (asked === null || asked.some((id) => !own.includes(id)));
