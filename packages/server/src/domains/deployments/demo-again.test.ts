import { expect, test } from 'vitest';
import { whenBuilt } from '../../../test/shops.ts';
import { createOwnWorld } from '../../../test/world.ts';

test('an admin adds the demo to an installation of their own, removes it, and adds it again', async () => {
  const world = await createOwnWorld();
  try {
    const { admin } = world;
    const { id: own } = await world.deployment();
    await admin.createUserGroup({ body: { name: 'analysts', description: 'Ours' } });
    const { id, isDemo } = await admin.addDemo();
    expect(isDemo).toBe(true);
    expect(id).not.toBe(own);
    expect(await admin.addDemo()).toMatchObject({ id });
    const demosIn = async () =>
      (await admin.getDeployments()).items.filter((one) => one.isDemo).map((one) => one.id);
    expect(await demosIn()).toEqual([id]);
    await whenBuilt(world, id);
    const answer = await admin.load({
      deploymentId: id,
      body: { query: { measures: ['sales.orders'] } },
    });
    expect(JSON.stringify(answer)).toMatch(/"sales\.orders":"[1-9]\d*"/);
    const { items } = await admin.getWorkbooks({ deploymentId: id, first: 1000 });
    expect(
      items
        .filter((one) => one.dashboardOutline?.length)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['Commerce overview', 'Operations board']);
    // What was there stays as it was.
    const groups = (await admin.listUserGroups({})).items;
    expect(groups.find(({ name }) => name === 'analysts')).toMatchObject({ description: 'Ours' });
    expect((await admin.getTenantSettings()).useCreatorMode).toBe(false);

    await admin.deleteDeployment({ deploymentId: id });
    expect(await demosIn()).toEqual([]);
    const again = await admin.addDemo();
    expect(again.id).not.toBe(id);
    expect(await demosIn()).toEqual([again.id]);
    const { data } = await admin.getUserAttributes();
    expect(data.map(({ name }) => name)).toContain('region');

    // Once removed, it stays away, also from servers that would begin with it.
    for (const deploymentId of [own, again.id]) await admin.deleteDeployment({ deploymentId });
    await world.anotherServer({ ORIEL_DEMO: 'true' });
    expect((await admin.getDeployments()).items).toEqual([]);
  } finally {
    await world.stop();
  }
});
