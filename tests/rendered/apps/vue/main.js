import { createApp } from 'vue';
import { createRouter, createWebHistory } from 'vue-router';
import App from './App.vue';
import Contact from './Contact.vue';
import Entries from './Entries.vue';
import Home from './Home.vue';
import Imprint from './Imprint.vue';
import Nowhere from './Nowhere.vue';
import Status from './Status.vue';
import '../style.css';

const router = createRouter({
  history: createWebHistory(),
  routes: [
    { path: '/', component: Home, meta: { title: 'Logbook' } },
    { path: '/entries', component: Entries, meta: { title: 'All entries' } },
    { path: '/entries/:id', component: () => import('./Entry.vue') },
    { path: '/status', component: Status, meta: { title: 'Status' } },
    { path: '/imprint', component: Imprint, meta: { title: 'Imprint', robots: 'noindex' } },
    { path: '/contact', component: Contact, meta: { title: 'Contact' } },
    { path: '/:rest(.*)', component: Nowhere, meta: { title: 'Not found' } },
  ],
});

router.afterEach(({ meta: { title, robots } }) => {
  if (title) document.title = title;
  document.querySelector('meta[name=robots]')?.remove();
  if (robots) document.head.append(Object.assign(document.createElement('meta'), { name: 'robots', content: robots }));
});

createApp(App).use(router).mount('#app');
