export { demoAttributes } from './demo.ts';
export { userAttributeRoutes } from './routes.ts';
export {
  type AttributeType,
  defaultWords,
  fitsDefault,
  fitsType,
  parseDefault,
  valueInForce,
  valueWords,
} from './rules.ts';
export { userAttributeValueRoutes } from './value-routes.ts';
