/** Data: where it is, which tables there are, and a first model of them. */
import { useState } from 'preact/hooks';
import { withShared } from '../console/say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../console/shell.tsx';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { Failed, Skeleton } from '../parts/states.tsx';
import { DraftModel } from './draft.tsx';
import { Files } from './files.tsx';
import { SourceForm } from './form.tsx';
import { say } from './say.ts';
import { Tables } from './tables.tsx';
import { type Source, sourcesOf } from './variables.ts';

export const texts = withShared(say);

const NEW: Source = { name: '', kind: 'postgres', values: {}, hasPassword: false, variables: [] };

function SourcesPage({ deploymentId, rights }: ConsolePageProps) {
  const [chosen, choose] = useState('default');
  const [drafted, setDrafted] = useState<readonly string[]>();
  const { data, problem, reload } = useData(`d/${deploymentId}/variables`, async (signal) => {
    const { items } = await api.getEnvVariables({ deploymentId, first: 1000 }, { signal });
    return sourcesOf(items);
  });
  if (!data) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton />;
  const source = data.find(({ name }) => name === chosen);
  return (
    <>
      <PageHead title={say('title')} hint={say('titleHint')}>
        {rights.may('DeploymentUpdate') && (
          <button type="button" onClick={() => choose('')}>
            {say('connect')}
          </button>
        )}
      </PageHead>
      <div class="studio-tabs" role="tablist" aria-label={say('title')}>
        {data.map(({ name, kind }) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={name === chosen}
            onClick={() => {
              choose(name);
              setDrafted(undefined);
            }}
          >
            {name} <span class="soft">{say(kind)}</span>
          </button>
        ))}
      </div>
      {(source || chosen === '') && (
        <SourceForm
          key={chosen}
          deploymentId={deploymentId}
          source={source ?? NEW}
          mayChange={rights.may('DeploymentUpdate')}
          mayTest={rights.may('SchemaUpdate')}
          onSaved={(name) => {
            reload();
            choose(name);
          }}
        />
      )}
      {source?.kind === 'duckdb' && !drafted && rights.may('DataAssetsRead') && (
        <Files deploymentId={deploymentId} mayChange={rights.may('DataAssetsManage')} />
      )}
      {source &&
        (drafted ? (
          <DraftModel
            deploymentId={deploymentId}
            source={source.name}
            chosen={drafted}
            onClose={() => setDrafted(undefined)}
          />
        ) : (
          <Tables
            key={source.name}
            deploymentId={deploymentId}
            source={source.name}
            mayRead={rights.may('DataAssetsRead')}
            mayDraft={rights.may('SchemaUpdateDevBranches')}
            draft={setDrafted}
          />
        ))}
    </>
  );
}

export default consolePage('adminSources', SourcesPage);
