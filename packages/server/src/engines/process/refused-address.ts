import { EngineError } from '../engine.ts';

export const refusedAddress = () =>
  new EngineError(
    'source_unavailable',
    'The address of the database is not public (see ORIEL_ALLOW_PRIVATE_REMOTES).',
  );
