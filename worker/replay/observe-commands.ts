// Bundled beside the workflows for a replay only, and never in the worker: tells what today's code asks for, and where.
// It runs in the sandbox, so it imports what workflows may. It changes nothing: every call goes on as it came, without a
// tick of its own.
import { proxySinks, workflowInfo, type Sinks, type WorkflowInterceptors } from '@temporalio/workflow';
import type { Command, ObservedCommand } from './command.js';

export interface ObserverSinks extends Sinks {
  observer: {
    /** An ObservedCommand as JSON: objects of the sandbox have other prototypes than ours. */
    saw(observed: string): void;
    /** The timer of this number is no longer wanted. */
    tookBack(timer: number, afterEventId: number): void;
  };
}

export function interceptors(): WorkflowInterceptors {
  const { observer } = proxySinks<ObserverSinks>();
  const saw = (command: Command, stack = new Error('here').stack ?? ''): void => {
    const observed: ObservedCommand = { command, afterEventId: workflowInfo().historyLength, stack };
    observer.saw(JSON.stringify(observed));
  };
  return {
    inbound: [
      {
        async execute(input, next) {
          try {
            const result = await next(input);
            saw({ kind: 'complete' });
            return result;
          } catch (error) {
            // Continue-as-new is thrown as well, and was seen already.
            if (error instanceof Error && error.name !== 'ContinueAsNew') {
              const { name, message } = error;
              saw({ kind: 'fail', error: { name, message } }, error.stack);
            }
            throw error;
          }
        },
      },
    ],
    outbound: [
      {
        scheduleActivity(input, next) {
          saw({ kind: 'activity', name: input.activityType, args: input.args[0] });
          return next(input);
        },
        startTimer(input, next) {
          const { seq, durationMs } = input;
          saw({ kind: 'timer', durationMs, number: seq });
          const fired = next(input);
          fired.catch(() => observer.tookBack(seq, workflowInfo().historyLength));
          return fired;
        },
        startChildWorkflowExecution(input, next) {
          saw({ kind: 'child', name: input.workflowType, workflowId: input.options.workflowId });
          return next(input);
        },
        signalWorkflow(input, next) {
          const { target } = input;
          const workflowId =
            (target.type === 'child' ? target.childWorkflowId : target.workflowExecution.workflowId) ?? '';
          saw({ kind: 'signal', name: input.signalName, workflowId });
          return next(input);
        },
        continueAsNew(input, next) {
          saw({ kind: 'continueAsNew' });
          return next(input);
        },
      },
    ],
  };
}
