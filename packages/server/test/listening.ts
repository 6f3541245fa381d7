import { pino } from 'pino';
import { createListener, type Listener } from '../src/platform/db/listener.ts';

/** Returns a listener that already receives notifications of these channels. */
export async function startListening(connectionString: string, ...channels: string[]): Promise<Listener> {
  const listener = createListener({ connectionString }, pino({ level: 'silent' }));
  for (const channel of channels) listener.on(channel, () => {});
  await listener.start();
  return listener;
}
