export function runTests(
  folder: string,
  args?: string[],
): Promise<{ passed: number; failed: number; unsteady: { file: string; error: string }[] }>;
