/** Links with which people leave a notification: signed, so that nobody can make one for somebody else. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Keys } from '../../platform/secrets/keyring.ts';

export type Unsubscriber = { userId: number } | { address: string };
export interface LinkClaims {
  notificationId: number;
  who: Unsubscriber;
}

export interface Links {
  urlOf(linked: LinkClaims): string;
  /** Nothing if the token was not made here. */
  read(token: string): LinkClaims | undefined;
}

export const UNSUBSCRIBE_PATH = '/notifications/unsubscribe';
const MAC_BYTES = 24;

export function createLinks({ keys, publicUrl }: { keys: Keys; publicUrl: string }): Links {
  const macOf = (key: Buffer, payload: Buffer) =>
    createHmac('sha256', key).update(payload).digest().subarray(0, MAC_BYTES);
  return {
    urlOf({ notificationId, who }) {
      const payload = Buffer.from(
        JSON.stringify([notificationId, 'userId' in who ? who.userId : who.address]),
      );
      const token = Buffer.concat([macOf(keys[0], payload), payload]).toString('base64url');
      return `${publicUrl}${UNSUBSCRIBE_PATH}?token=${token}`;
    },
    read(token) {
      const bytes = Buffer.from(token, 'base64url');
      const [mac, payload] = [bytes.subarray(0, MAC_BYTES), bytes.subarray(MAC_BYTES)];
      if (mac.length < MAC_BYTES || !keys.some((key) => timingSafeEqual(mac, macOf(key, payload))))
        return undefined;
      const [notificationId, who] = JSON.parse(payload.toString()) as [number, number | string];
      return { notificationId, who: typeof who === 'number' ? { userId: who } : { address: who } };
    },
  };
}
