import type { Module } from '../../platform/module.ts';
import type { EnvVars } from './env-vars.ts';
import { envVarRoutes } from './routes.ts';

export { createEnvVars, ENV_VARIABLE_COLUMN, type EnvVars } from './env-vars.ts';
export { clearEnvVariables } from './store.ts';

export const envVars = (variables: EnvVars): Module => ({ routes: envVarRoutes(variables) });
