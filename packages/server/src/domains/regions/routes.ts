import { operations } from '@oriel/contract';
import { handle } from '../../platform/http/routes.ts';
import { LOCAL_REGION } from './rules.ts';

export const regionRoutes = () => [handle(operations.listRegions, () => ({ data: [LOCAL_REGION] }))];
