interface FailedFile {
  file: string;
  error: string;
}

export function runTests(
  folder: string,
  args?: string[],
): Promise<{ passed: number; failed: number; unsteady: FailedFile[]; failures: FailedFile[] }>;
