/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Caps, buffers and properties made of bytes. */

#include "../testing.h"
#include "element.h"

#include <string.h>

/* ---- Caps ---- */

static const gchar *const formats[] = {
    "GRAY8",     "I420",      "NV12",      "YUY2",        "UYVY",
    "AYUV",      "GRAY16_LE", "GRAY16_BE", "I420_10LE",   "I420_10BE",
    "Y444_12LE", "P010_10LE", "Y210",      "GRAY10_LE32", "NV12_10LE40",
};

static const gchar *const refused_caps[] = {
    "video/x-raw, format=RGB, width=16, height=16",
    "video/x-raw(memory:Other), format=GRAY8, width=16, height=16",
    "video/x-raw(meta:Other), format=GRAY8, width=16, height=16",
    "video/x-raw, format=GRAY8, width=2147483647, height=2147483647",
    "video/x-raw, format=GRAY8, width=16",
    "video/x-bayer, format=bggr, width=16, height=16",
    "audio/x-raw, format=S16LE, rate=48000, channels=2",
};

GstCaps *
take_caps(Input *input, gboolean *refused)
{
  guint which = take(input) % (G_N_ELEMENTS(formats) + 3);
  guint width = 1 + take(input), height = 1 + take(input) % 96;
  guint rate = take(input);

  *refused = which >= G_N_ELEMENTS(formats);
  if (*refused)
    return gst_caps_from_string(
        refused_caps[width % G_N_ELEMENTS(refused_caps)]);
  return gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING,
                             formats[which], "width", G_TYPE_INT, width,
                             "height", G_TYPE_INT, height, "framerate",
                             GST_TYPE_FRACTION, rate & 0x7f, 1, NULL);
}

/* ---- Buffers ---- */

static guint
flat(guint x, guint y, gpointer value)
{
  return GPOINTER_TO_UINT(value) * 257;
}

static guint
noise(guint x, guint y, gpointer seed)
{
  guint value = (x * 0x9e3779b1u) ^ (y * 0x85ebca6bu) ^ GPOINTER_TO_UINT(seed);

  return (value * 0xc2b2ae35u) >> 16;
}

static GstBuffer *
take_content(Input *input, const GstVideoInfo *info, gboolean with_layout)
{
  guint value = take(input);
  TestDeepPattern pattern = value & 1 ? noise : flat;
  TestLayout layout = {0};

  if (!with_layout)
    return test_deep_frame_new(info, NULL, pattern, GUINT_TO_POINTER(value));
  layout.before = take(input);
  layout.stride = info->stride[0] + (gint)take(input);
  layout.rows_below = take(input) % 8;
  return test_deep_frame_new(info, &layout, pattern, GUINT_TO_POINTER(value));
}

/* A layout that may not fit: rows upwards, over each other, or outside. */
static void
twist_layout(Input *input, GstBuffer *buffer, const GstVideoInfo *info)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
  guint how = take(input);

  if (!meta)
    return;
  if (how & 1)
    meta->offset[0] += (gsize)meta->stride[0] * (guint)(info->height - 1);
  if (how & 2)
    meta->stride[0] = -meta->stride[0];
  if (how & 4)
    meta->stride[0] = (gint16)take_word(input);
  if (how & 8)
    meta->offset[0] = how & 16 ? take_word(input) : G_MAXSIZE - take(input);
  if (how & 32)
    meta->width = take(input);
  if (how & 64)
    meta->height = take(input);
  if (how == 255)
    meta->stride[0] = G_MININT;
}

/* The same bytes in several memories. */
static GstBuffer *
split(GstBuffer *whole, guint n)
{
  GstBuffer *parts = gst_buffer_new();
  gsize size = gst_buffer_get_size(whole), step = size / n + 1;

  gst_buffer_copy_into(parts, whole, GST_BUFFER_COPY_META, 0, size);
  for (gsize at = 0; at < size; at += step)
    gst_buffer_copy_into(parts, whole, GST_BUFFER_COPY_MEMORY, at,
                         MIN(step, size - at));
  gst_buffer_unref(whole);
  return parts;
}

static void
add_parts(Input *input, GstBuffer *buffer, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint x = take(input), y = take(input), w = take(input), h = take(input);

    gst_buffer_add_video_region_of_interest_meta(buffer, "part",
                                                 x == 255 ? G_MAXUINT : x, y,
                                                 w == 255 ? G_MAXUINT : w, h);
  }
  if (n > 0 && take(input) & 1) {
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer);

    crop->x = take(input);
    crop->y = take(input);
    crop->width = take(input);
    crop->height = take(input);
  }
}

GstBuffer *
take_buffer(Input *input, const GstVideoInfo *info)
{
  guint how = take(input);
  GstBuffer *buffer = take_content(input, info, how & 1);

  if (how & 2)
    twist_layout(input, buffer, info);
  if ((how & 12) == 12)
    gst_buffer_set_size(
        buffer, (gssize)(gst_buffer_get_size(buffer) * take(input) / 256));
  if ((how & 48) == 48 && gst_buffer_get_size(buffer) > 0)
    buffer = split(buffer, 2 + take(input) % 14);
  if (how & 64)
    add_parts(input, buffer, take(input) % 6);
  if (how & 128)
    GST_BUFFER_FLAG_SET(buffer,
                        (guint)GST_BUFFER_FLAG_DISCONT << take(input) % 8);
  return buffer;
}

/* ---- Properties ---- */

/* In an order that stays, so that kept inputs mean the same. The engine is
 * the CPU's, and no other. */
static const gchar *const properties[] = {
    "async-depth",  "bins",           "attach-meta",     "post-messages",
    "roi",          "zones",          "roi-metas",       "crop-meta",
    "zone-weights", "rows",           "verify",          "interval",
    "statistics",   "percentiles",    "n-threads",       "significant-bits",
    "algorithm",    "cuda-device-id", "register-memory", "max-pending-messages",
    "qos",
};

void
check_properties_are_known(void)
{
  GstElement *element = gst_element_factory_make("gpuhistogram", NULL);
  GParamSpec **all;
  guint n;

  CHECK(element, "no element");
  all = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n);
  for (guint i = 0; i < n; i++) {
    gboolean known = all[i]->owner_type != G_OBJECT_TYPE(element) ||
                     !(all[i]->flags & G_PARAM_WRITABLE) ||
                     g_str_equal(all[i]->name, "engine");

    for (guint k = 0; k < G_N_ELEMENTS(properties) && !known; k++)
      known = g_str_equal(all[i]->name, properties[k]);
    CHECK(known, "%s", all[i]->name);
  }
  g_free(all);
  gst_object_unref(element);
}

static void
take_text(Input *input, GValue *value)
{
  guint how = take(input), n = take(input) % 80;
  guint a = take(input), b = take(input), c, d;
  gchar *text;

  if (how < 80) {
    g_value_take_string(value,
                        g_strdup_printf("%ux%u", 1 + a % 40, 1 + b % 40));
  } else if (how < 200) {
    const gchar *sign = how & 1 ? "%" : "";

    c = take(input);
    d = take(input);
    g_value_take_string(
        value, g_strdup_printf("%u%s,%u,%u%s,%u", a, sign, b, c, sign, d));
  } else {
    text = g_malloc0(n + 1);
    for (guint i = 0; i < n; i++)
      text[i] = (gchar)take(input);
    g_value_take_string(value, text);
  }
}

static void
take_array(Input *input, GValue *array)
{
  guint n = take(input) % 72;

  for (guint i = 0; i < n; i++) {
    GValue number = G_VALUE_INIT;

    g_value_init(&number, G_TYPE_DOUBLE);
    g_value_set_double(&number, take(input) / 2.0);
    gst_value_array_append_and_take_value(array, &number);
  }
}

static void
take_value(Input *input, GParamSpec *pspec, GValue *value)
{
  guint byte;

  if (G_VALUE_HOLDS_STRING(value)) {
    take_text(input, value);
    return;
  }
  if (GST_VALUE_HOLDS_ARRAY(value)) {
    take_array(input, value);
    return;
  }
  byte = take(input);
  if (G_VALUE_HOLDS_BOOLEAN(value))
    g_value_set_boolean(value, byte & 1);
  else if (G_VALUE_HOLDS_UINT(value))
    g_value_set_uint(value, byte < 32 ? 1u << byte : byte - 32);
  else if (G_VALUE_HOLDS_INT(value))
    g_value_set_int(value, (gint)byte - 1);
  else if (G_VALUE_HOLDS_UINT64(value))
    g_value_set_uint64(value, byte == 255 ? G_MAXUINT64 : byte * GST_MSECOND);
  else if (G_VALUE_HOLDS_ENUM(value))
    g_value_set_enum(value, (gint)byte);
  else
    g_value_set_flags(value, take_word(input));
  /* More threads than this take time and show nothing. */
  if (g_str_equal(pspec->name, "n-threads"))
    g_value_set_uint(value, byte % 5);
}

void
take_property(Input *input, Fixture *fixture)
{
  const gchar *name = properties[take(input) % G_N_ELEMENTS(properties)];
  GObject *element = G_OBJECT(fixture->element);
  GParamSpec *pspec =
      g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
  GValue value = G_VALUE_INIT;
  GstStructure *stats;

  g_value_init(&value, pspec->value_type);
  take_value(input, pspec, &value);
  g_param_value_validate(pspec, &value);
  g_object_set_property(element, name, &value);
  g_object_get_property(element, name, &value);
  if (g_str_equal(name, "attach-meta"))
    fixture->attaches = g_value_get_boolean(&value);
  if (g_str_equal(name, "qos") && g_value_get_boolean(&value))
    fixture->qos = TRUE;
  g_value_unset(&value);
  g_object_get(element, "stats", &stats, NULL);
  gst_structure_free(stats);
}
