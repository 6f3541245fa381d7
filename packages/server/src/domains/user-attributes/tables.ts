/** What only this folder writes to. */
export const tables = ['user_attribute_values', 'user_attributes'] as const;
