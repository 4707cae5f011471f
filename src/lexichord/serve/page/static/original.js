// Comfort only: the sizes can be chosen without it.
"use strict";

{
  const sizes = [...document.querySelectorAll(".zoom input")];
  const buttons = [...document.querySelectorAll("[data-zoom]")];

  const show = () => {
    const now = sizes.findIndex((size) => size.checked);
    for (const button of buttons) button.disabled = !sizes[now + Number(button.dataset.zoom)];
  };

  const isInSight = (one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  const inSight = () =>
    [...document.querySelectorAll("#quote"), ...document.querySelectorAll(".sheets figure")].find(isInSight) ??
    document.querySelector(".sheets");

  // What is seen stays where it is.
  const zoom = (by) => {
    const size = sizes[sizes.findIndex((one) => one.checked) + by];
    if (!size) return;
    const sheets = document.querySelector(".sheets");
    const middle = (sheets.scrollLeft + sheets.clientWidth / 2) / sheets.scrollWidth;
    const held = inSight();
    const top = held.getBoundingClientRect().top;
    size.checked = true;
    show();
    sheets.scrollLeft = middle * sheets.scrollWidth - sheets.clientWidth / 2;
    scrollBy(0, held.getBoundingClientRect().top - top);
    document.querySelector("#status").textContent = `${size.value}%`;
  };

  // A page that cannot be drawn says so, instead of that it is being drawn.
  const tellFailed = ({ target }) => {
    const told = target.parentElement.querySelector(".awaited");
    told.textContent = told.dataset.failed;
  };
  for (const picture of document.querySelectorAll(".sheet img")) {
    picture.addEventListener("error", tellFailed);
    if (picture.complete && !picture.naturalWidth) tellFailed({ target: picture });
  }

  const KEYS = { "+": 1, "=": 1, "-": -1 };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input:not([type=radio]), select, textarea");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
    event.preventDefault();
    zoom(KEYS[event.key]);
  });
  for (const button of buttons) {
    button.hidden = false;
    button.addEventListener("click", () => zoom(Number(button.dataset.zoom)));
  }
  for (const size of sizes) size.addEventListener("change", show);
  show();
}
