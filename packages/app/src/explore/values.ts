/** The values of a dimension, searched on the server under the rights of the person. */
import { useEffect, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { isAbort } from '../data/problem.ts';

const VALUES_MAX = 50;
const WAIT_MS = 200;

export interface ValueSearch {
  values: string[];
  isLoading: boolean;
  hasFailed: boolean;
}

export function useValues(deploymentId: number, member: string, text: string): ValueSearch {
  const [found, setFound] = useState<ValueSearch>({ values: [], isLoading: true, hasFailed: false });
  useEffect(() => {
    const asking = new AbortController();
    setFound((before) => ({ ...before, isLoading: true }));
    const timer = setTimeout(
      () =>
        void loadValues(deploymentId, member, text, asking.signal).then(
          (values) => setFound({ values, isLoading: false, hasFailed: false }),
          (error) => {
            if (!isAbort(error)) setFound({ values: [], isLoading: false, hasFailed: true });
          },
        ),
      text ? WAIT_MS : 0,
    );
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [deploymentId, member, text]);
  return found;
}

export async function loadValues(
  deploymentId: number,
  member: string,
  text = '',
  signal?: AbortSignal,
): Promise<string[]> {
  const query = {
    dimensions: [member],
    limit: VALUES_MAX,
    order: { [member]: 'asc' },
    ...(text ? { filters: [{ member, operator: 'contains', values: [text] }] } : {}),
  };
  const reply = await api.load({ deploymentId, body: { query } as never }, signal ? { signal } : {});
  const { data } = reply as unknown as { data: Record<string, unknown>[] };
  return data.flatMap((row) => (row[member] == null ? [] : [String(row[member])]));
}
