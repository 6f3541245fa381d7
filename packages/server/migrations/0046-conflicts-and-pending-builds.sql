-- The branch with which the last merge of this one was in conflict. The commit that resolves it merges that branch.
alter table branches add column conflict_branch_id bigint references branches on delete set null;
create index branches_by_conflict on branches (conflict_branch_id) where conflict_branch_id is not null;

-- Whether the tree has changes that were in no commit. Only those who work on the branch may see what is wrong with them.
alter table builds add column is_uncommitted boolean not null default false;
-- What the next job looks for, among very many builds that ended.
create index builds_pending on builds (deployment_id, id) where status in ('waiting', 'building');

-- Nobody can see or commit changes on a deploy branch. Those that were made before it was deployed get a branch.
insert into branches (deployment_id, name, parent_id, head, working_tree)
select b.deployment_id, 'uncommitted-' || b.id, b.id, b.head, b.working_tree
from branches b join deployments d on d.id = b.deployment_id and d.deploy_branch_name = b.name
where b.working_tree is not null;
update branches b set working_tree = null
from deployments d
where d.id = b.deployment_id and d.deploy_branch_name = b.name and b.working_tree is not null;
