/** An application in a card. It asks for its own charts, and shares the filters that both dashboards have. */
import { useEffect, useState } from 'preact/hooks';
import { ApplicationFrame } from '../apps/app-frame.tsx';
import { follow, openApplication, sharing } from '../apps/follow.ts';
import type { Board } from '../board.ts';
import { useBoard } from '../shared.ts';
import { Problem, type Widget } from '../types.ts';
import { Card, Failure, Skeleton } from './chart.tsx';

export function Application({ widget: { id, config } }: { widget: Widget }) {
  const around = useBoard();
  const publicId = String(config?.publicId ?? '');
  const [own, setOwn] = useState<Board>();
  const [problem, setProblem] = useState<Problem>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isWanted = true;
    setOwn(undefined);
    setProblem(undefined);
    openApplication(around, publicId).then(
      (board) => isWanted && setOwn(board),
      (error) => isWanted && setProblem(error instanceof Problem ? error : new Problem(0, 'error', '')),
    );
    return () => {
      isWanted = false;
    };
  }, [around, around.viewers, publicId, attempt]);
  useEffect(() => {
    if (problem)
      around.tell('error', { message: problem.message, code: problem.code, context: id, fatal: false });
  }, [problem]);
  useEffect(() => {
    if (own) follow(own, around);
  });

  const body = problem ? (
    <Failure problem={problem} onRetry={() => setAttempt(attempt + 1)} />
  ) : own ? (
    <ApplicationFrame board={own} onRendered={() => {}} setFilter={sharing(own, around)} />
  ) : (
    <Skeleton />
  );
  return <Card title={String(config?.title ?? own?.title ?? '')} body={body} kind="app" />;
}
