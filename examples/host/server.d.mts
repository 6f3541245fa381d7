import type { Server } from 'node:http';

export function createHost(options: {
  oriel: string;
  apiKey: string;
  deploymentId?: number;
  publicId?: string;
}): Server;
