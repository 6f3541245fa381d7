/** What hosts and addresses may ask for: which values the page knows, and a warning about others. */
/** For developers of hosts, who would otherwise look for the reason in vain. */
export function warnOf(name: string, given: unknown, known: unknown) {
  if (given == null || known) return;
  console.warn(`Oriel does not know this ${name}, and ignores it: ${String(given).slice(0, 100)}`);
}

/** IANA names only: an offset such as `+02:00` is no zone. */
export function knownZone(text: unknown): string | undefined {
  if (typeof text !== 'string' || !/^[A-Za-z]/.test(text)) return undefined;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return text;
  } catch {
    return undefined;
  }
}

/** The first of these requests that is known. */
export function firstKnown(
  known: (request: unknown) => string | undefined,
  requests: unknown[],
): string | undefined {
  for (const request of requests) {
    const found = known(request);
    if (found !== undefined) return found;
  }
  return undefined;
}
