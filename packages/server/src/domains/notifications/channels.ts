/** What a copy of a dashboard is, and the ways to send one. */
import type { Tx } from '../../platform/db/database.ts';
import type { Rendering } from '../renderings/index.ts';
import type { Reader } from './readers.ts';
import type { DeliveryRow, RunRow } from './runs.store.ts';

export interface Copy {
  run: RunRow;
  title: string;
  /** The dashboard as the reader sees it. Nothing for channels that are not drawn for. */
  rendering: Rendering | undefined;
  /** Where people see it. */
  link: string | null;
  unsubscribeUrl: string | null;
}

export class NotSentError extends Error {
  /** The same would fail again. */
  readonly isPermanent: boolean;
  /** It may have arrived nevertheless, so it must not be sent again. */
  readonly mayBeSent: boolean;

  constructor(message: string, { isPermanent = false, mayBeSent = false } = {}) {
    super(message);
    this.isPermanent = isPermanent;
    this.mayBeSent = mayBeSent;
  }
}

export interface Channel {
  /** Whether a copy needs a picture. */
  isDrawn: boolean;
  /** Resolves when it was accepted. Throws `NotSentError`. */
  send(copy: Copy, delivery: DeliveryRow, reader: Reader, signal: AbortSignal): Promise<void>;
}

/** Stores the copy in the transaction in which the delivery ends, so that it is sent exactly once. */
export interface Outbox {
  /** Returns false if nothing can be sent there. */
  add(tx: Tx, copy: Copy, delivery: DeliveryRow): Promise<boolean>;
}

export interface Channels {
  /** Undefined if no mail server is set. */
  mail?: Channel | undefined;
  /** Undefined if no token is set. */
  slack?: Channel | undefined;
  webhooks: Outbox;
}
