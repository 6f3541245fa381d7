/** What the API shows of branches. */
import type { BranchRow } from './store.ts';

export const toBranch = (branch: BranchRow) => ({
  id: branch.id,
  name: branch.name,
  parentBranch: branch.parentName,
  lastHash: branch.head,
  isStagingEnvironmentEnabled: branch.isStaging,
  isDefault: branch.isDeploy,
  isActive: branch.isActive,
  hasUncommittedChanges: branch.workingTree !== null,
});

export const toDevBranch = ({ name, parentName }: BranchRow, active: boolean) => ({
  active,
  branchName: name,
  parentBranch: parentName,
});
