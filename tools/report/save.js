// Saves the pictures of the page from the page itself, which so has all its figures in it when it is sent alone: as SVG what it
// shows, as PNG twice the size, and the chart as it stands.
(() => {
  function save(name, blob) {
    const link = document.createElement("a");
    link.download = name;
    link.href = URL.createObjectURL(blob);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);  // not before the browser has read it
  }

  function svg(image) {
    const bytes = Uint8Array.from(atob(image.src.split(",")[1]), (c) => c.charCodeAt(0));
    return new Blob([bytes], {type: "image/svg+xml"});
  }

  function drawn(image) {
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    const c = canvas.getContext("2d");
    c.fillStyle = "#fff";
    c.fillRect(0, 0, canvas.width, canvas.height);
    c.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas;
  }

  document.addEventListener("click", (event) => {
    const asked = event.target.dataset.save;  // "jct_cdf.svg"; undefined elsewhere
    if (!asked) return;
    const [name, kind] = asked.split("."), picture = document.getElementById(`picture-${name}`);
    if (kind === "svg") save(asked, svg(picture));
    else (picture ? drawn(picture) : document.getElementById(name)).toBlob((blob) => save(asked, blob));
  });
})();
