export { chartOf } from './chart-of.ts';
export {
  type Column,
  type ColumnKind,
  channelsOf,
  columnsOf,
  describeAll,
  fieldOf,
  readAsked,
} from './columns.ts';
export {
  type Fit,
  fitsOf,
  type Need,
  type Reason,
  type Recommendation,
  type ResultShape,
  recommend,
  shapeOf,
} from './recommend.ts';
export {
  type Chart,
  type Describe,
  type MemberInfo,
  type QueryColumns,
  type TimeDimension,
  type Visualization,
  VisualizationError,
  type VisualizationType,
} from './types.ts';
