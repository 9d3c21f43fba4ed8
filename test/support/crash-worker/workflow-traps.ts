// The part of the traps that runs in the sandbox of the workflows: tells the worker that one is about to continue as new.
import { proxySinks, type Sinks, type WorkflowInterceptorsFactory } from '@temporalio/workflow';

export interface TrapSinks extends Sinks {
  traps: { continuesAsNew(): void };
}

const { traps } = proxySinks<TrapSinks>();

export const interceptors: WorkflowInterceptorsFactory = () => ({
  outbound: [
    {
      continueAsNew(input, next) {
        traps.continuesAsNew();
        return next(input);
      },
    },
  ],
});
