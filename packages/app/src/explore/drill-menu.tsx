/** What can be done with a mark or a cell: see the rows behind it, or go on from there with another split. */
import type { DrillTarget } from '@oriel/charts';
import { Dialog } from '../parts/dialog.tsx';
import { exploreFrom } from './changes.ts';
import type { Exploration } from './exploration.ts';
import type { Member } from './members.ts';
import { hasMember } from './question.ts';
import { say } from './texts/say.ts';

interface DrillMenuProps {
  exploration: Exploration;
  drilled: DrillTarget;
  /** Absent if nothing is behind it. */
  onRows?: (() => void) | undefined;
  onClose(): void;
}

export function DrillMenu({ exploration, drilled, onRows, onClose }: DrillMenuProps) {
  const { model, board } = exploration;
  const question = exploration.question.value;
  const others = (model.bySource.get(question.source ?? '') ?? []).filter(
    ({ name, kind }) => (kind === 'dimension' || kind === 'time') && !hasMember(question, name),
  );
  const go = (next: Member | undefined) => {
    const values: [string, string | null][] = [];
    const ranges: [string, string[]][] = [];
    for (const [key, value] of drilled.values) {
      const member = key.split('.').slice(0, 2).join('.');
      if (model.members.get(member)?.kind === 'time') {
        // The drill query has the range of the bucket already.
        const time = drilled.query.timeDimensions?.find(({ dimension }) => dimension === member)?.dateRange;
        if (time) ranges.push([member, Array.isArray(time) ? time : [time]]);
      } else values.push([key, value == null ? null : String(value)]);
    }
    exploration.change(say('exploreFrom'), (before) =>
      exploreFrom(before, values, ranges, next && { member: next.name, kind: next.kind }),
    );
    onClose();
  };
  const texts = drilled.values.map(([key, value]) => {
    const member = model.members.get(key.split('.').slice(0, 2).join('.'));
    const isTime = member?.kind === 'time';
    return `${member?.title ?? key}: ${isTime ? board.formats.date(value, key.split('.')[2]) : (drilled.names?.[String(value)] ?? value ?? '–')}`;
  });
  return (
    <Dialog
      title={[model.members.get(drilled.member)?.title, ...texts].filter(Boolean).join(' · ')}
      onClose={onClose}
    >
      <div class="drill-menu">
        {onRows && (
          <button type="button" class="primary" onClick={onRows}>
            {say('showRows')}
          </button>
        )}
        <button type="button" onClick={() => go(undefined)}>
          {say('exploreFrom')}
        </button>
        <p class="soft">{say('splitBy')}</p>
        <div class="option-list">
          {others.map((member) => (
            <button key={member.name} type="button" class="quiet" onClick={() => go(member)}>
              {member.title}
            </button>
          ))}
        </div>
      </div>
    </Dialog>
  );
}
