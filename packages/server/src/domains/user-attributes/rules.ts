export type AttributeType = 'string' | 'number' | 'boolean' | 'string_array' | 'number_array';

/** The value that a default stands for: text for a string, JSON for the others. Undefined where it does not fit. */
export function parseDefault(type: AttributeType, text: string): unknown {
  if (type === 'string') return text;
  try {
    const value: unknown = JSON.parse(text);
    return fits(type, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function fits(type: AttributeType, value: unknown): boolean {
  const [item, isArray] = type.split('_') as [string, string?];
  if (isArray) return Array.isArray(value) && value.every((member) => fits(item as AttributeType, member));
  return typeof value === item && (item !== 'number' || Number.isFinite(value));
}
