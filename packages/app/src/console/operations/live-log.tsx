/** The log of a deployment as it is written: followed, paused and filtered. */
import { useEffect, useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { CheckField, FilterChoice, FilterField, Filters } from '../parts/fields.tsx';
import { shownTime, useFilters, useList, useRefresh } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared } from '../say.ts';
import { say } from './say.ts';

const CONTAINERS = ['INIT', 'query-server', 'MAIN', 'vector', 'api-proxy'] as const;
const SOURCES = ['production', 'dev'] as const;

export function LiveLog({ deploymentId }: { deploymentId: number }) {
  const [filters, change] = useFilters(['container', 'source', 'text'] as const);
  const [isLive, setLive] = useState(true);
  const container = CONTAINERS.find((one) => one === filters.container);
  const source = SOURCES.find((one) => one === filters.source);
  const query = { deploymentId, ...(container ? { container } : {}), ...(source ? { source } : {}) };
  const key = `log/${JSON.stringify(query)}`;
  const log = useList(key, (first, signal) => api.logs({ ...query, first }, { signal }));
  useRefresh(key, isLive);
  const wanted = filters.text?.toLocaleLowerCase() ?? '';
  const data = log.data && {
    ...log.data,
    items: numbered(log.data.items).filter(({ message }) => message.toLocaleLowerCase().includes(wanted)),
  };
  // Asking for older lines pauses the live log, so that they can be read.
  const more =
    log.more &&
    (() => {
      setLive(false);
      log.more?.();
    });
  useEffect(() => setLive(true), [deploymentId]);
  return (
    <>
      <Filters>
        <FilterChoice
          label={say('part')}
          value={container ?? ''}
          onChange={(value) => change({ container: value })}
          options={[
            { value: '', label: sayShared('all') },
            { value: 'INIT', label: say('partBuilds') },
            { value: 'query-server', label: say('partQueries') },
            ...CONTAINERS.slice(2).map((one) => ({ value: one, label: one })),
          ]}
        />
        <FilterChoice
          label={say('branch')}
          value={source ?? ''}
          onChange={(value) => change({ source: value })}
          options={[
            { value: '', label: sayShared('all') },
            { value: 'production', label: say('deployBranch') },
            { value: 'dev', label: say('otherBranches') },
          ]}
        />
        <FilterField
          label={say('message')}
          value={filters.text ?? ''}
          onChange={(value) => change({ text: value })}
        />
        <CheckField label={say('follow')} isOn={isLive} onChange={setLive} />
      </Filters>
      <Table
        label={say('log')}
        loaded={{ ...log, data }}
        more={more}
        keyOf={(line) => line.key}
        empty={say('noLog')}
        columns={[
          { title: say('time'), cell: ({ date }) => shownTime(date) },
          { title: say('message'), cell: ({ message }) => message },
          { title: say('server'), isWide: true, cell: ({ pod }) => pod },
        ]}
      />
    </>
  );
}

/** Lines have no number, and the same one may be written twice in a moment. */
function numbered<Line extends { date: string; message: string; pod: string }>(lines: readonly Line[]) {
  const counts = new Map<string, number>();
  return lines.map((line) => {
    const name = `${line.date} ${line.pod} ${line.message}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { ...line, key: `${name} ${count}` };
  });
}
