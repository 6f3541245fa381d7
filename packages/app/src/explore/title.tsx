/** The name of a question and, once it is saved in a workbook, the way there. */
import { addressOf } from '../place.ts';
import type { Report } from './save.ts';
import { say } from './texts/say.ts';

export const Title = ({ report, name }: { report: Report | undefined; name: string }) => (
  <div class="explore-title">
    {report?.workbookId && (
      <div class="path">
        <a href={addressOf(report.deploymentId, 'workbook', { workbookId: report.workbookId })}>
          {say('backToWorkbook')}
        </a>
      </div>
    )}
    <h1>{name}</h1>
  </div>
);
