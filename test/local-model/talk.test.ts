import assert from 'node:assert/strict';
import { PLAIN, dialogue, startModel, textOf, type RunningModel } from './model-server.js';

describe('plain talk with the demo model', () => {
  let model: RunningModel;
  before(async () => {
    model = await startModel('demo');
  });
  after(() => model.close());

  const talk = async (...said: string[]): Promise<string> =>
    textOf(await model.client.messages.create({ ...PLAIN, messages: dialogue(...said) }));

  const answers: [string, RegExp][] = [
    ['Hi', /how can I help/i],
    ['Good evening!', /how can I help/i],
    ['hello there, how are you?', /doing well/],
    ['Thanks a lot', /welcome/],
    ['bye bye', /goodbye/i],
    ['ok', /all right/i],
    ['can you help me?', /gladly/i],
    ['Merhaba', /yardımcı/],
    ['tesekkurler', /rica ederim/i],
    ['Hola, buenos dias', /ayudarle/],
    ['muito obrigada!', /de nada/i],
  ];
  for (const [said, answer] of answers) {
    it(`answers "${said}" as a person would, without talking of itself`, async () => {
      const text = await talk(said);
      assert.match(text, answer);
      assert.doesNotMatch(text, /demo|model/i);
    });
  }

  it('says what it is when asked, and when it can do no more', async () => {
    assert.match(await talk('Are you human?'), /demo model/);
    assert.match(await talk('What do you think about the election?'), /demo model/);
    assert.match(await talk('Rewrite this more politely: give me that'), /demo model/);
  });

  it('remembers what is in the history of the request', async () => {
    const said = ['My friend Ali bakes bread', 'Lovely!'];
    assert.equal(await talk(...said, 'What did I say before?'), 'You said: “My friend Ali bakes bread”');
    assert.match(await talk(...said, 'do you remember my friend?'), /My friend Ali bakes bread/);
    assert.match(await talk(...said, 'what did you say?'), /Lovely!/);
  });

  it('invents no memory', async () => {
    assert.match(await talk('what did I say before?'), /first message/);
    assert.match(await talk('Hi', 'Hello!', 'do you remember my sister?'), /haven't told me/);
  });
});
