/** Which readers of a run get the same rows, so that one drawing serves all of them. */
import { createHash } from 'node:crypto';
import type { Caller } from '../../platform/auth/actor.ts';
import type { JobContext } from '../../platform/jobs/jobs.ts';
import { throttle } from '../../platform/jobs/pace.ts';
import type { Fingerprints, Queries } from '../queries/index.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import type { DeliverySender } from './delivering.ts';
import { type Reader, readerOf } from './readers.ts';
import * as store from './runs.store.ts';
import { type Board, boardFor } from './widget-queries.ts';

export interface Group {
  key: string;
  reader: Reader;
  members: { delivery: store.DeliveryRow; reader: Reader }[];
}

export interface GroupOptions {
  queries: Pick<Queries, 'fingerprint' | 'viewer'>;
  tenantSettings: TenantSettings;
}

const PAGE = 500;
/** Readers whose queries are planned, and copies that are sent, at a time. */
export const AT_ONCE = 4;

export type Groups = ReturnType<typeof createGroups>;

export function createGroups(
  { queries, tenantSettings }: GroupOptions,
  { refuse }: Pick<DeliverySender, 'refuse'>,
) {
  function boardOfReader(run: store.RunRow, board: Board, actor: Caller, { db, signal }: JobContext) {
    const call = { actor, db, signal, deploymentId: run.deploymentId };
    return boardFor(board, run, async () => (await queries.viewer(call)).userAttributes);
  }

  /** Readers with the same key get the same rows, and the same look. `known` shares what is planned alike for several. */
  async function keyOf(
    run: store.RunRow,
    board: Board,
    actor: Caller,
    context: JobContext,
    known: Fingerprints,
  ) {
    const { asked, layout, look } = await boardOfReader(run, board, actor, context);
    const { db, signal } = context;
    const call = { actor, db, signal, deploymentId: run.deploymentId };
    return hashOf(await queries.fingerprint(call, asked, known, layout.chosen.askedAt), look);
  }

  /** Readers for whom every statement of the dashboard is the same, with the same values, get the same rows. */
  async function groupReaders(run: store.RunRow, board: Board, context: JobContext): Promise<Group[]> {
    const { db, signal } = context;
    const settings = await tenantSettings.current();
    const groups = new Map<string, Group>();
    const known: Fingerprints = new Map();
    for (let afterId = 0; ; ) {
      const page = await store.listWaiting(db, run, afterId, PAGE);
      await eachOf(page, AT_ONCE, async (delivery) => {
        signal.throwIfAborted();
        await throttle(signal);
        try {
          const reader = await readerOf(db, run, delivery, settings);
          const key = await keyOf(run, board, reader.actor, context, known);
          const group = groups.get(key) ?? { key, reader, members: [] };
          groups.set(key, group);
          group.members.push({ delivery, reader });
        } catch (error) {
          signal.throwIfAborted();
          await refuse(db, delivery, error);
        }
      });
      if (page.length < PAGE) return inOrder([...groups.values()]);
      afterId = page.at(-1)!.id;
    }
  }

  return { boardOfReader, keyOf, groupReaders };
}

/** Sorts groups and members in the order of the recipients, because readers are found in any order. */
const inOrder = (groups: readonly Group[]): Group[] =>
  groups
    .map(({ key, members }) => {
      const sorted = members.toSorted((a, b) => a.delivery.id - b.delivery.id);
      return { key, reader: sorted[0]!.reader, members: sorted };
    })
    .sort((a, b) => a.members[0]!.delivery.id - b.members[0]!.delivery.id);

const hashOf = (...parts: string[]) => createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/** Works on so many at once. Waits for all that have begun before it throws. */
export async function eachOf<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<unknown>) {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  const outcomes = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure) throw failure.reason;
}
