/** Deployments whose data model is built and whose files can be queried. */
import { vi } from 'vitest';
import { modeller } from './data-models.ts';
import type { World } from './world.ts';

/** Puts these files into the deploy branch, and waits until they serve queries. */
export async function deployModel(world: World, deploymentId: number, files: Record<string, string>) {
  const developer = await modeller(world, deploymentId, { client: world.admin });
  await developer.save(files);
  await world.admin.mergeToDefaultBranch({
    deploymentId,
    body: { branchName: developer.branchName, message: 'Deploy' },
  });
  await whenBuilt(world, deploymentId);
}

export const whenBuilt = (world: World, deploymentId: number, branchName = 'main') =>
  vi.waitFor(
    async () => {
      const { status, errorText } = await world.admin.buildStatus({ deploymentId, branchName });
      if (status !== 'built') throw new Error(`the branch ${branchName} is ${status}: ${errorText}`);
    },
    { timeout: 60_000 },
  );

export const SHOP_FILES = {
  'customers.csv': `id,name,region,tenant_id
1,Ada,EMEA,9007199254740992
2,Bob,AMER,9007199254740993
3,Cyd,EMEA,9007199254740993
`,
  'orders.csv': `id,customer_id,status,amount,ordered_at
1,1,new,10.50,2024-01-10 08:00:00
2,1,done,20.00,2024-01-31 23:30:00
3,2,done,5.25,2024-02-01 00:30:00
4,3,done,7.00,2024-02-15 12:00:00
5,3,new,1.00,2024-03-01 12:00:00
`,
};

const OPEN = '    access_policy: [{ group: "*" }]\n';

export const SHOP_MODEL = {
  'model/cubes/shop.yml': `cubes:
  - name: customers
    sql_table: files.customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: name, sql: name, type: string }
      - { name: region, sql: region, type: string }
    measures:
      - { name: count, type: count }
${OPEN}  - name: orders
    title: Orders
    sql_table: files.orders
    joins:
      - { name: customers, relationship: many_to_one, sql: "{CUBE}.customer_id = {customers.id}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: status, title: State, sql: status, type: string }
      - { name: ordered_at, sql: ordered_at, type: time }
    measures:
      - { name: count, type: count, drill_members: [id, status] }
      - { name: amount, sql: amount, type: sum, format: currency, drill_members: [id] }
    segments:
      - { name: done, sql: "{CUBE}.status = 'done'" }
${OPEN}`,
  'model/views/sales.yml': `views:
  - name: sales
    cubes:
      - { join_path: orders, includes: "*" }
      - { join_path: orders.customers, includes: [name, region] }
`,
};

/** The model above with another policy for customers. */
export const shopWith = (policy: string) => ({
  ...SHOP_MODEL,
  'model/cubes/shop.yml': SHOP_MODEL['model/cubes/shop.yml'].replace(OPEN, policy),
});

/** A new deployment with the files and the model above, or with other files of the model. */
export async function createShop(world: World, model: Record<string, string> = SHOP_MODEL) {
  const { id: deploymentId } = await world.deployment();
  await world.writeFiles(deploymentId, SHOP_FILES);
  await deployModel(world, deploymentId, model);
  return deploymentId;
}
