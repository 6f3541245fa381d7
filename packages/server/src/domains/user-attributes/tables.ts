/** Tables that only this domain writes to. */
export const tables = ['user_attribute_values', 'user_attributes'] as const;
