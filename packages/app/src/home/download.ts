/** A published dashboard as a file, with the rows that the person may see. */
import { api } from '../data/api.ts';

interface DownloadRequest {
  deploymentId: number;
  workbookId: number;
  name: string;
  format: 'png' | 'pdf';
}

export async function downloadDashboard({ deploymentId, workbookId, name, format }: DownloadRequest) {
  const reply = await api.exportDashboard({ deploymentId, workbookId, format });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([(await reply.bytes()) as Uint8Array<ArrayBuffer>]));
  link.download = `${name}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
