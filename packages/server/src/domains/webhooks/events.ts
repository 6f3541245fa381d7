/** Which events changes are, and how they are written down for the webhooks that want them. */
import { type WebhookEvent, webhookEvents } from '@oriel/contract';
import type { OnChange } from '../../platform/audit/change.ts';
import type { AuditEntry } from '../../platform/audit/store.ts';
import type { Tx } from '../../platform/db/database.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import type { Platform } from '../../platform/module.ts';
import { insertDeliveries, insertDeliveryFor, listWantedEvents } from './deliveries.store.ts';

export interface Event {
  type: WebhookEvent;
  /** Ids, and nothing that is secret or a row of data. */
  data: Record<string, string | number | null>;
  /** Events of one resource are sent in their order. */
  resource: string;
}

/** A message to one webhook that is named as its receiver, such as a recipient of a notification. */
export type Message = Omit<Event, 'type'> & { type: 'notification.due' };

export interface Events {
  /**
   * Records events that are no change of an audited operation, such as the end of a build. Call it in the transaction
   * that did it.
   */
  record(tx: Tx, events: readonly Event[]): Promise<void>;
  /**
   * Records a message to one webhook, whatever events it wants. Returns false if the webhook is gone or switched off.
   */
  recordFor(tx: Tx, webhookId: number, message: Message): Promise<boolean>;
  /** Writes down the events of changes, in their transaction. */
  onChange: OnChange;
}

const WANTED = 'wanted';

/** An event that no webhook wants is not written, and no statement is sent for it. */
export function createEvents(
  { essential, createCache }: Pick<Platform, 'essential' | 'createCache'>,
  sender: JobKind,
): Events {
  const cache = createCache<string, ReadonlySet<string>>(() => ['webhooks']);
  const readWanted = async () => new Set((await listWantedEvents(essential)).map(({ event }) => event));

  const events: Events = {
    async record(tx, given) {
      if (!given.length) return;
      const wanted = cache.get(WANTED) ?? (await cache.load(WANTED, readWanted));
      if (!wanted.size) return;
      const timestamp = new Date().toISOString();
      const chosen = given
        .filter(({ type }) => wanted.has('*') || wanted.has(type))
        .map(({ type, data, resource }) => ({
          event: type,
          resource,
          payload: JSON.stringify({ type, timestamp, data }),
        }));
      if (chosen.length && (await insertDeliveries(tx, chosen))) await enqueue(tx, sender, {});
    },
    async recordFor(tx, webhookId, { type, data, resource }) {
      const payload = JSON.stringify({ type, timestamp: new Date().toISOString(), data });
      const isTaken = (await insertDeliveryFor(tx, webhookId, { event: type, resource, payload })) > 0;
      if (isTaken) await enqueue(tx, sender, {});
      return isTaken;
    },
    onChange: (tx, entries) => events.record(tx, entries.flatMap(eventOf)),
  };
  return events;
}

const KNOWN: ReadonlySet<string> = new Set(webhookEvents);

/** Entries whose name is on no list are no events. */
export function eventOf(entry: AuditEntry): Event[] {
  const { resource, id } = resourceOf(entry);
  const type = `${resource}.${verbOf(entry)}`;
  if (!KNOWN.has(type)) return [];
  const { deploymentId, embedTenantName = null, userId, apiKeyId, operation, requestId } = entry;
  const data = { id, deploymentId, embedTenantName, userId, apiKeyId, operation, requestId };
  return [{ type: type as WebhookEvent, resource: `${resource}:${id}`, data }];
}

/** In lists of the workspace, the id names the kind of resource too. */
function resourceOf({ resourceType, resourceId }: AuditEntry): { resource: string; id: string } {
  const [, kind, id] = resourceType === 'workspace' ? (/^([A-Z]+):(\d+)$/.exec(resourceId) ?? []) : [];
  if (kind && id) return { resource: kind.toLowerCase(), id };
  // The audit log says of which kind the host of the connection is.
  if (resourceType === 'gitHostConnection') return { resource: 'git_connection', id: resourceId };
  return {
    resource: resourceType.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    id: resourceId,
  };
}

function verbOf({ resourceType, operation, before, after }: AuditEntry): string {
  if (resourceType === 'embedSession') return 'revoked';
  if (operation === 'publishDashboard') return 'published';
  if (before === null) return 'created';
  if (after === null) return 'deleted';
  const { isDeactivated } = after as { isDeactivated?: boolean };
  if (resourceType === 'user' && isDeactivated !== undefined) {
    return isDeactivated ? 'deactivated' : 'reactivated';
  }
  return 'updated';
}

/** A new id for each delivery. Only its form is that of Standard Webhooks. */
export const messageIdOf = (id: string) => `msg_${id.replaceAll('-', '')}`;
