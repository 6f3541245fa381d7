/** Returns the code of an error in any of its forms. Does not read a success, which may be an endless stream. */
export async function errorCodeOf(response: Response): Promise<string | undefined> {
  if (response.status < 400) return void (await response.body?.cancel());
  const inHeader = response.headers.get('x-error-code');
  if (inHeader) return inHeader;
  return ((await response.json()) as { code: string }).code;
}
