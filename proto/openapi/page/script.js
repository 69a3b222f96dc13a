const find = document.getElementById('find');
const operations = Array.from(document.querySelectorAll('.op'));
const groups = Array.from(document.querySelectorAll('.group'));
const schemas = document.getElementById('schemas');
const none = document.getElementById('none');

/** Shows the operations that have all words. */
function filter() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const operation of operations) {
    const text = operation.dataset.find;
    operation.hidden = !words.every((word) => text.includes(word));
    document.querySelector(`[data-of="${operation.id}"]`).hidden = operation.hidden;
    if (!operation.hidden) shown++;
  }
  for (const group of groups) group.hidden = !group.querySelector('.op:not([hidden])');
  schemas.hidden = words.length > 0;
  none.hidden = shown > 0;
}

/** Unfolds what the fragment of the address names. */
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.hidden || target.closest('[hidden]')) {
    find.value = '';
    filter();
  }
  if (target.tagName === 'DETAILS') target.open = true;
  target.scrollIntoView();
}

function copy({ currentTarget: button }) {
  const code = button.parentElement.querySelector('code');
  const done = () => {
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  };
  // Only a page of a secure origin has the clipboard.
  if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done);
  else getSelection().selectAllChildren(code);
}

find.hidden = false;
find.addEventListener('input', filter);
addEventListener('hashchange', unfold);
addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== find) {
    event.preventDefault();
    find.focus();
  } else if (event.key === 'Escape' && document.activeElement === find) {
    find.value = '';
    filter();
  }
});
for (const button of document.querySelectorAll('.copy')) {
  button.hidden = false;
  button.addEventListener('click', copy);
}
if (location.protocol.startsWith('http')) {
  const variables = document.getElementById('variables');
  variables.textContent = variables.textContent.replace('http://127.0.0.1:8080', location.origin);
}
unfold();
