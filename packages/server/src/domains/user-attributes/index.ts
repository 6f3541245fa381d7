import type { Module, Platform } from '../../platform/module.ts';
import { cleanup } from './cleanup.store.ts';
import { demoAttributes } from './demo.ts';
import { userAttributeRoutes } from './routes.ts';
import { userAttributeValueRoutes } from './value-routes.ts';

export {
  type AttributeType,
  defaultWords,
  fitsDefault,
  fitsType,
  parseDefault,
  valueInForce,
  valueWords,
} from './rules.ts';

export const userAttributes = (platform: Platform): Module => ({
  routes: [...userAttributeRoutes(platform), ...userAttributeValueRoutes()],
  demo: demoAttributes,
  cleanup,
});
