/** The SDK of AWS for Python, with the environment of an engine, at a stand-in for the token service and for S3. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { engineWithVariable, runAsEngine, startTokenService } from './workload-engines.ts';
import { createOwnWorld, type World } from './world.ts';

const PYTHON = process.env.ORIEL_TEST_BOTO3_PYTHON!;
/** The folder with the SDK. */
const MODULES = process.env.ORIEL_TEST_BOTO3!;

/** Nothing in it is about tokens: the SDK finds the variables and the file, and exchanges the token, by itself. */
const LIST_BUCKET = `
import boto3, botocore.config
config = botocore.config.Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})
for item in boto3.client("s3", config=config).list_objects_v2(Bucket="lake")["Contents"]:
    print(item["Key"])
`;

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

test('an unchanged SDK reads a bucket with what the token of an engine was exchanged for', async () => {
  const { id: deploymentId } = await world.deployment();
  const roleArn = 'arn:aws:iam::123456789012:role/analytics';
  await world.admin.setEnvVariables({
    deploymentId,
    body: {
      env_variables: [
        { name: 'AWS_ROLE_ARN', value: roleArn },
        { name: 'AWS_REGION', value: 'eu-central-1' },
      ],
    },
  });
  await world.admin.createOidcTokenConfig({ body: { audienceType: 'AWS' } });
  const engine = await engineWithVariable(world, deploymentId, 'AWS_WEB_IDENTITY_TOKEN_FILE');

  const authorizations: string[] = [];
  const bucket = createServer((request, response) => {
    authorizations.push(request.headers.authorization ?? '');
    expect(request.headers['x-amz-security-token']).toBe('session');
    response.end(
      '<ListBucketResult><Name>lake</Name><IsTruncated>false</IsTruncated><Contents><Key>orders.parquet</Key></Contents></ListBucketResult>',
    );
  });
  await new Promise<void>((resolve) => bucket.listen(0, '127.0.0.1', resolve));
  const subject = `oriel:deployment:${deploymentId}`;
  const trust = { issuer: world.url, audience: 'sts.amazonaws.com', roleArn };
  const trusting = await startTokenService({ ...trust, subject });
  const ofAnother = await startTokenService({ ...trust, subject: `${subject}0` });
  const list = (tokenService: string) =>
    runAsEngine(engine, PYTHON, ['-c', LIST_BUCKET], {
      PYTHONPATH: MODULES,
      PYTHONDONTWRITEBYTECODE: '1',
      AWS_ENDPOINT_URL_STS: tokenService,
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`,
    });
  try {
    expect(await list(trusting.url)).toBe('orders.parquet\n');
    expect(authorizations).toEqual([
      expect.stringMatching(
        new RegExp(`Credential=ASIAoriel-deployment-${deploymentId}/\\d{8}/eu-central-1/s3/aws4_request`),
      ),
    ]);
    await expect(list(ofAnother.url)).rejects.toMatchObject({
      stderr: expect.stringContaining('unexpected "sub" claim value'),
    });
    expect(authorizations).toHaveLength(1);
  } finally {
    for (const server of [bucket, trusting.server, ofAnother.server]) server.close();
  }
});
