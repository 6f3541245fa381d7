/**
 * Writes what became of each test file to the file in `ORIEL_TEST_REPORT`, and the errors that were caught outside of tests,
 * which Vitest's own JSON leaves out.
 */
import { writeFileSync } from 'node:fs';

export default class {
  onTestRunEnd(modules, errors) {
    const report = { files: modules.map(describe), errors: errors.map(errorText) };
    writeFileSync(process.env.ORIEL_TEST_REPORT, JSON.stringify(report));
  }
}

function describe(module) {
  const tests = [...module.children.allTests()];
  const inState = (state) => tests.filter((test) => test.result().state === state);
  const failed = inState('failed');
  // A file that cannot be loaded, or whose hook fails, has failed without a failed test.
  const error = failed.length
    ? `${failed[0].fullName}\n${failed[0].result().errors.map(errorText).join('\n')}`
    : module.errors().map(errorText).join('\n');
  return {
    file: module.relativeModuleId,
    passed: inState('passed').length,
    failed: failed.length || (module.state() === 'failed' ? 1 : 0),
    error,
  };
}

const errorText = ({ message, stack }) => stack ?? message;
