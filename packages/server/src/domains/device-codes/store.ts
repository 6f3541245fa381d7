import type { Queryable, Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

export interface NewDevice {
  secretHash: Buffer;
  userCodeHash: Buffer;
  clientId: string;
  userAgent: string | null;
  ip: string;
  seconds: number;
  intervalSeconds: number;
}

/** Returns nothing if another device has the same user code. */
export const insertDevice = async (db: Queryable, device: NewDevice) =>
  (
    await db.maybeOne<{ id: number }>(sql`
      insert into device_codes (secret_hash, user_code_hash, client_id, user_agent, ip, expires_at, interval_seconds)
      values (${device.secretHash}, ${device.userCodeHash}, ${device.clientId}, ${device.userAgent}, ${device.ip},
              now() + ${device.seconds} * interval '1 second', ${device.intervalSeconds})
      on conflict (user_code_hash) do nothing returning id`)
  )?.id;

export interface WaitingDevice {
  clientId: string;
  userAgent: string | null;
  ip: string;
  createdAt: string;
}

const WAITING = sql`answered_at is null and expires_at > now()`;
const COLUMNS = sql`client_id as "clientId", user_agent as "userAgent", ip, created_at as "createdAt"`;

export const findWaiting = (db: Queryable, userCodeHash: Buffer) =>
  db.maybeOne<WaitingDevice>(
    sql`select ${COLUMNS} from device_codes where user_code_hash = ${userCodeHash} and ${WAITING}`,
  );

/** A code is answered once. Without a session the device is refused. */
export const answerDevice = (tx: Tx, userCodeHash: Buffer) =>
  tx.maybeOne<WaitingDevice & { id: number }>(sql`
    update device_codes set answered_at = now()
    where user_code_hash = ${userCodeHash} and ${WAITING} returning id, ${COLUMNS}`);

/** The code ends with this session. */
export const updateSession = (tx: Tx, id: number, sessionId: number) =>
  tx.run(sql`update device_codes set session_id = ${sessionId} where id = ${id}`);

export interface AskingDevice {
  secretHash: Buffer;
  clientId: string;
  isOver: boolean;
  isAnswered: boolean;
  sessionId: number | null;
  isTooSoon: boolean;
}

export const lockDevice = (tx: Tx, id: number) =>
  tx.maybeOne<AskingDevice>(sql`
    select secret_hash as "secretHash", client_id as "clientId", expires_at <= now() as "isOver",
           answered_at is not null as "isAnswered", session_id as "sessionId",
           coalesce(last_asked_at + interval_seconds * interval '1 second' > now(), false) as "isTooSoon"
    from device_codes where id = ${id} for update`);

export const noteAsked = (tx: Tx, id: number, addedSeconds: number) =>
  tx.run(sql`
    update device_codes set last_asked_at = now(), interval_seconds = interval_seconds + ${addedSeconds}
    where id = ${id}`);

export const deleteDevice = (tx: Tx, id: number) => tx.run(sql`delete from device_codes where id = ${id}`);

/** Deletes up to this many codes that expired an hour ago: until then, the device is told why it gets no tokens. */
export const deleteExpiredDevices = (db: Queryable, rows: number) =>
  db.run(sql`
    delete from device_codes where id in (
      select id from device_codes where expires_at < now() - interval '1 hour' order by expires_at limit ${rows}
      for update skip locked)`);
