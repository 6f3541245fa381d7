export {
  affectedMembers,
  type ChangedPart,
  type ChangedValue,
  changedValues,
  compareModels,
  memberNames,
} from './compare.ts';
export {
  type CompileResult,
  CUBES_MAX,
  compileModel,
  isModelFile,
} from './compile.ts';
export { convertDbt, type DbtConversion, type DbtFile } from './dbt/convert.ts';
export type { Note as DbtNote } from './dbt/cubes.ts';
export { DbtModelError, readCatalog, readManifest } from './dbt/manifest.ts';
export { type DbtSettings, isSelector } from './dbt/settings.ts';
export { type Draft, draftCubes } from './drafts/drafts.ts';
export { proposeKeys } from './drafts/keys.ts';
export type { DraftTable } from './drafts/tables.ts';
export { formatYaml } from './edit/format.ts';
export { type MemberRename, type RenameResult, renameMember } from './edit/rename.ts';
export { modelSchema } from './language/files.ts';
export type { Schema } from './language/schemas.ts';
export type * from './model.ts';
export { type PackedPart, packModel, unpackModel } from './pack-model.ts';
export { type Budget, createPlanBudget, isSpent } from './plan/budget.ts';
export { QueryError, type QueryErrorCode, type QueryIssue } from './plan/errors.ts';
export type { NormalQuery } from './plan/normal-query.ts';
export {
  type DialectName,
  type Plan,
  type PlannedColumn,
  type PlanOptions,
  type Plans,
  planQuery,
  ROWS_MAX,
} from './plan/plan.ts';
export { limitsRows } from './plan/policies.ts';
export { QUERY_LIMITS } from './plan/query.ts';
export type { Statement } from './plan/render.ts';
export type { Viewer } from './plan/viewer.ts';
export { PROBLEMS_MAX, type Problem, type ProblemCode } from './problems.ts';
export { LANGUAGE } from './read.ts';
export { MEMBERS_MAX, MODEL_CHARACTERS_MAX } from './resolve/size.ts';
export type { Annotation, ShownMember } from './shown/annotations.ts';
export {
  type AccessExplanation,
  type Explanation,
  explainAccess,
  explainPlan,
  type HiddenMember,
  hiddenMembers,
} from './shown/explanations.ts';
export { describeMember, kindOfMember, type MemberKind } from './shown/kinds.ts';
export { type MetaCube, metaOf, metaText } from './shown/meta.ts';
export { planSql, type SqlOptions, type SqlPlan } from './sql/plan-sql.ts';
export { SQL_LIMITS } from './sql/selects.ts';
